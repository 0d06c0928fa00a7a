"""HTTPS by the pods themselves, which is there where it is asked for."""

import unittest

import chart

ON = {"api": {"https": {"enabled": True}}}


def open_ports(values, role: str) -> list[str]:
    """The ports that a role's policy names in its rule for HTTP."""
    rule = chart.find(values, "NetworkPolicy", f"-{role}")["spec"]["ingress"][0]
    return [it["port"] for it in rule["ports"]]


class Https(unittest.TestCase):
    def test_a_cluster_serves_it_by_the_pods_of_the_api(self):
        pods = chart.pods("everything")
        service = chart.find("everything", "Service", "-api")["spec"]
        self.assertEqual({it["name"]: it["port"] for it in service["ports"]}, {"http": 8080, "https": 8443})
        variables = chart.variables(pods["api"])
        self.assertEqual(variables["TRAPLINE_HTTPS"]["value"], "0.0.0.0:8443")
        self.assertEqual(variables["TRAPLINE_HTTPS_PORT"]["value"], "8443")
        self.assertEqual(variables["TRAPLINE_TLS_KEY"]["value"], "/etc/trapline/tls/tls.key")
        secrets = [it.get("secret") for it in pods["api"]["spec"]["volumes"]]
        self.assertIn({"secretName": "api-tls", "defaultMode": 0o440}, secrets)
        for role in ("smtp", "worker"):
            self.assertTrue({"TRAPLINE_HTTPS", "TRAPLINE_TLS_CERT"}.isdisjoint(chart.variables(pods[role])))
        self.assertEqual(open_ports("everything", "api"), ["http", "https"])
        self.assertEqual(open_ports("everything", "smtp"), ["http"])

    def test_one_process_shows_one_certificate(self):
        self.assertNotIn("TRAPLINE_HTTPS", chart.variables(chart.pods("embedded")["embedded"]))
        variables = chart.variables(chart.pods(ON)["embedded"])
        self.assertEqual(variables["TRAPLINE_HTTPS"]["value"], "0.0.0.0:8443")
        self.assertNotIn("TRAPLINE_TLS_CERT", variables)
        both = {**ON, "smtp": {"tls": {"existingSecret": "mail-tls"}}}
        variables = chart.variables(chart.pods(both)["embedded"])
        self.assertEqual(variables["TRAPLINE_TLS_CERT"]["value"], "/etc/trapline/tls/tls.crt")
        other = {"api": {"https": {"enabled": True, "existingSecret": "api-tls"}}}
        with self.assertRaisesRegex(chart.RenderError, "one process shows one certificate"):
            chart.objects(other)


if __name__ == "__main__":
    unittest.main()
