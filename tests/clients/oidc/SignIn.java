package app;

import static org.springframework.http.HttpMethod.GET;
import static org.springframework.security.web.servlet.util.matcher.PathPatternRequestMatcher.pathPattern;

import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.server.servlet.context.ServletWebServerInitializedEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.annotation.RegisteredOAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.endpoint.OAuth2RefreshTokenGrantRequest;
import org.springframework.security.oauth2.client.endpoint.RestClientRefreshTokenTokenResponseClient;
import org.springframework.security.oauth2.client.oidc.web.logout.OidcClientInitiatedLogoutSuccessHandler;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.view.RedirectView;

/** Signs people in with Spring Security. ISSUER, CLIENT_ID, CLIENT_SECRET and PORT are its settings. */
@SpringBootApplication
@RestController
public class SignIn {
  private static final String CLIENT = "spring.security.oauth2.client.registration.idp.";

  public static void main(String[] args) {
    var application = new SpringApplication(SignIn.class);
    application.setDefaultProperties(
        Map.of(
            "server.port", System.getenv().getOrDefault("PORT", "3000"),
            "server.address", "127.0.0.1",
            "spring.main.banner-mode", "off",
            "logging.level.root", "error",
            "spring.security.oauth2.client.provider.idp.issuer-uri", System.getenv("ISSUER"),
            CLIENT + "client-id", System.getenv("CLIENT_ID"),
            CLIENT + "client-secret", System.getenv("CLIENT_SECRET"),
            CLIENT + "scope", "openid,profile,email,offline_access",
            CLIENT + "redirect-uri", "{baseUrl}/callback"));
    application.run(args);
  }

  /** PKCE is on by default since Spring Security 7. */
  @Bean
  SecurityFilterChain security(HttpSecurity http, ClientRegistrationRepository clients) {
    var signOut = new OidcClientInitiatedLogoutSuccessHandler(clients);
    signOut.setPostLogoutRedirectUri("{baseUrl}/");
    return http.authorizeHttpRequests(
            all -> all.requestMatchers("/", "/login").permitAll().anyRequest().authenticated())
        .oauth2Login(
            login ->
                login
                    .loginPage("/login")
                    .authorizationEndpoint(at -> at.baseUri("/to"))
                    .redirectionEndpoint(at -> at.baseUri("/callback"))
                    .defaultSuccessUrl("/user", true)
                    .failureHandler(
                        (request, response, error) -> {
                          response.setStatus(401);
                          response.getWriter().print(error.getMessage());
                        }))
        .logout(
            out ->
                out.logoutRequestMatcher(pathPattern(GET, "/logout")).logoutSuccessHandler(signOut))
        .build();
  }

  @GetMapping("/login")
  RedirectView login() {
    return new RedirectView("/to/idp");
  }

  @GetMapping("/user")
  Map<String, Object> user(@AuthenticationPrincipal OidcUser user) {
    return user.getUserInfo().getClaims();
  }

  @GetMapping("/refresh")
  String refresh(@RegisteredOAuth2AuthorizedClient("idp") OAuth2AuthorizedClient client) {
    var request =
        new OAuth2RefreshTokenGrantRequest(
            client.getClientRegistration(), client.getAccessToken(), client.getRefreshToken());
    var answer = new RestClientRefreshTokenTokenResponseClient().getTokenResponse(request);
    return answer.getAccessToken().getTokenType().getValue();
  }

  @GetMapping("/")
  String home() {
    return "signed out";
  }

  @EventListener
  void ready(ServletWebServerInitializedEvent event) {
    System.out.println("listening " + event.getWebServer().getPort());
  }
}
