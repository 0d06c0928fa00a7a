from onelogin.saml2.auth import OneLogin_Saml2_Auth
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Constants
from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser


def settings(metadata_url, app):
    """What python3-saml is told: the provider's metadata, and where the application is."""
    service_provider = {
        "entityId": app,
        "assertionConsumerService": {"url": f"{app}/acs", "binding": Constants.BINDING_HTTP_POST},
        "singleLogoutService": {"url": f"{app}/slo", "binding": Constants.BINDING_HTTP_REDIRECT},
        "NameIDFormat": Constants.NAMEID_EMAIL_ADDRESS,
    }
    identity_provider = OneLogin_Saml2_IdPMetadataParser.parse_remote(metadata_url)
    return identity_provider | {
        "strict": True,
        "sp": service_provider,
        "security": {"wantAssertionsSigned": True, "wantMessagesSigned": True},
    }


def client(settings, request):
    """One for each request; `request` as the documentation of python3-saml has it."""
    return OneLogin_Saml2_Auth(request, settings)
