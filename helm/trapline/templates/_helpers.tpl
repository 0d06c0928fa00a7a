{{- define "trapline.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 50 characters, so that the longest suffix stays within 63. */}}
{{- define "trapline.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "trapline.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Nothing in it changes with a release: selectors cannot. Takes {root, component}. */}}
{{- define "trapline.selector" -}}
app.kubernetes.io/name: {{ include "trapline.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Labels of an object. Takes {root, component}, and `labels` of its own. */}}
{{- define "trapline.labels" -}}
{{- $own := include "trapline.selector" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" .root.Release.Service -}}
{{- $_ := set $own "app.kubernetes.io/version" .root.Chart.AppVersion -}}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_") -}}
{{- toYaml (merge $own (default dict .labels) .root.Values.commonLabels) -}}
{{- end -}}

{{/* The metadata of an object. Takes {root, component, name}, and `labels` and `annotations` of its own. */}}
{{- define "trapline.metadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "trapline.labels" . | nindent 2 }}
{{- with merge (dict) (default dict .annotations) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "trapline.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "trapline.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "trapline.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The values of a component's pod: those of the role, or of the one process. */}}
{{- define "trapline.components" -}}
{{- if eq .Values.mode "cluster" -}}
[api, smtp, worker]
{{- else -}}
[embedded]
{{- end -}}
{{- end -}}

{{/* The component that serves a port: the role, or the one process. Takes {root, role}. */}}
{{- define "trapline.server" -}}
{{- if eq .root.Values.mode "cluster" -}}{{ .role }}{{- else -}}embedded{{- end -}}
{{- end -}}

{{/* The address that clients have, with or without an ingress. */}}
{{- define "trapline.baseUrl" -}}
{{- if and .Values.ingress.enabled .Values.ingress.hosts -}}
http{{ if .Values.ingress.tls }}s{{ end }}://{{ first .Values.ingress.hosts }}
{{- else if and .Values.httpRoute.enabled .Values.httpRoute.hostnames -}}
https://{{ first .Values.httpRoute.hostnames }}
{{- else -}}
http://{{ include "trapline.fullname" . }}-api.{{ .Release.Namespace }}.svc{{ if ne (int .Values.api.service.port) 80 }}:{{ .Values.api.service.port }}{{ end }}
{{- end -}}
{{- end -}}

{{- define "trapline.smtpServiceType" -}}
{{- default (ternary "LoadBalancer" "ClusterIP" (eq .Values.mode "cluster")) .Values.smtp.service.type -}}
{{- end -}}

{{/* What must be said before anything is made. */}}
{{- define "trapline.check" -}}
{{- $secrets := .Values.secrets -}}
{{- if eq .Values.mode "cluster" -}}
{{- if not $secrets.existingSecret -}}
{{- fail "mode: cluster needs secrets.existingSecret, a Secret with the keys secret-key, cql, blobs, nats and redis (docs/operate/kubernetes.md)" -}}
{{- end -}}
{{- range $key := list "secretKey" "cql" "blobs" "nats" "redis" -}}
{{- if not (get $secrets.keys $key) -}}
{{- fail (printf "mode: cluster needs secrets.keys.%s, the key of %s in the Secret %s" $key $key $secrets.existingSecret) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.smtp.proxyProtocol.enabled (not .Values.smtp.proxyProtocol.from) -}}
{{- fail "smtp.proxyProtocol.from: name the addresses of the load balancers that may say who a client is" -}}
{{- end -}}
{{- if and (eq .Values.mode "embedded") .Values.api.https.existingSecret -}}
{{- fail "api.https.existingSecret: one process shows one certificate, that of smtp.tls.existingSecret" -}}
{{- end -}}
{{- $byKey := and $secrets.existingSecret $secrets.keys.backupTo -}}
{{- if and .Values.backup.enabled (not .Values.backup.existingClaim) (not $byKey) -}}
{{- fail "backup.enabled needs a place: backup.existingClaim, or secrets.existingSecret with secrets.keys.backupTo" -}}
{{- end -}}
{{- if and .Values.backup.existingClaim $byKey -}}
{{- fail "backup: name a volume (backup.existingClaim) or a place (secrets.keys.backupTo), not both" -}}
{{- end -}}
{{- if and .Values.certificates.secret .Values.certificates.configMap -}}
{{- fail "certificates: name a Secret or a ConfigMap, not both" -}}
{{- end -}}
{{- if and .Values.monitoring.podMonitor.enabled (not (and $secrets.existingSecret $secrets.keys.metricsToken)) -}}
{{- fail "monitoring.podMonitor needs a token: secrets.existingSecret with secrets.keys.metricsToken" -}}
{{- end -}}
{{- end -}}
