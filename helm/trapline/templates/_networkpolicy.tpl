{{/* From whom HTTP may come: metrics are on its port too. Takes {policy, isPublic, https}. */}}
{{- define "trapline.httpIngress" -}}
{{- $from := .policy.metrics.from -}}
{{- if .isPublic -}}
{{- $from = ternary (concat .policy.http.from $from) list (gt (len .policy.http.from) 0) -}}
{{- end -}}
- ports: [{ port: http, protocol: TCP }{{ if .https }}, { port: https, protocol: TCP }{{ end }}]
  {{- with $from }}
  from:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* Ranges that are neither private nor link-local, and those that webhooks may reach besides. */}}
{{- define "trapline.internetEgress" -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except: [0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]
    - ipBlock:
        cidr: ::/0
        except: ["fc00::/7", "fe80::/10"]
{{- end -}}

{{/* What a component may reach. Takes {root, component}. */}}
{{- define "trapline.egress" -}}
{{- $policy := .root.Values.networkPolicy -}}
- ports: [{ port: 53, protocol: UDP }, { port: 53, protocol: TCP }]
  {{- with $policy.dns }}
  to:
    - {{- toYaml . | nindent 6 }}
  {{- end }}
{{- if eq .root.Values.mode "cluster" }}
{{- range $name := list "cql" "nats" "redis" "s3" }}
{{- $rules := get $policy.services $name }}
{{- if and (not $rules) (not (and (eq $name "s3") $policy.internet)) }}
{{- fail (printf "networkPolicy.services.%s: name where it is, as a list of {to, ports}" $name) }}
{{- end }}
{{- with $rules }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}
{{- if has .component (list "embedded" "api" "worker") }}
{{- with $policy.services.relay }}
{{ toYaml . }}
{{- end }}
{{- if $policy.internet }}
{{ include "trapline.internetEgress" . }}
{{- end }}
{{- $settings := merge (dict) ((get .root.Values .component).settings | default dict) .root.Values.settings }}
{{- with get $settings "webhook-allow-cidrs" }}
- to:
    {{- range splitList "," . }}
    - ipBlock: { cidr: {{ trim . | quote }} }
    {{- end }}
{{- end }}
{{- else if and $policy.internet (eq .root.Values.mode "cluster") (not $policy.services.s3) }}
# S3, wherever it is.
{{ include "trapline.internetEgress" . }}
{{- end }}
{{- end -}}
