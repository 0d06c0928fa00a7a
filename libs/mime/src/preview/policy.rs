//! The policy that keeps a preview in its frame.

/// The frame's `sandbox` attribute, which the policy repeats.
const SANDBOX: &str = "allow-popups allow-popups-to-escape-sandbox";

/// The preview page's Content-Security-Policy (CSP Level 3).
///
/// The `sandbox` directive also holds where the page is opened outside a frame. `remote_images` lets
/// the page load images from the network. `frame_ancestors` are the sources that may frame it, such
/// as `'self'` or `*`; what could end the directive is left out.
#[must_use]
pub fn content_security_policy(remote_images: bool, frame_ancestors: &str) -> String {
    let images = if remote_images { "'self' data: https: http:" } else { "'self' data:" };
    let ancestors: String =
        frame_ancestors.chars().filter(|c| !(c.is_control() || matches!(c, ';' | ','))).collect();
    format!(
        "sandbox {SANDBOX}; default-src 'none'; img-src {images}; media-src 'none'; \
         style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'; \
         frame-ancestors {ancestors}"
    )
}
