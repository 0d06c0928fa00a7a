{{/* The Deployment of a role of a cluster. Takes {root, component}. */}}
{{- define "trapline.deployment" -}}
{{- $values := get .root.Values .component -}}
{{- $name := printf "%s-%s" (include "trapline.fullname" .root) .component -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "trapline.metadata" (merge (dict "name" $name) .) | nindent 2 }}
spec:
  {{- if eq $values.autoscaling.engine "none" }}
  replicas: {{ $values.replicas }}
  {{- end }}
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 25% }
  selector:
    matchLabels:
      {{- include "trapline.selector" . | nindent 6 }}
  template:
    {{- include "trapline.podTemplate" . | nindent 4 }}
{{- end -}}
