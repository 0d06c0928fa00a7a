{{/* The containers' bounds, as measured in docs/scaling.md; no CPU limit, which only makes mail late. */}}
{{- define "trapline.resources" -}}
{{- $measured := dict
  "embedded" (dict "requests" (dict "cpu" "250m" "memory" "256Mi") "limits" (dict "memory" "1Gi"))
  "api" (dict "requests" (dict "cpu" "500m" "memory" "256Mi") "limits" (dict "memory" "1Gi"))
  "smtp" (dict "requests" (dict "cpu" "500m" "memory" "256Mi") "limits" (dict "memory" "1Gi"))
  "worker" (dict "requests" (dict "cpu" "250m" "memory" "128Mi") "limits" (dict "memory" "512Mi"))
  "backup" (dict "requests" (dict "cpu" "250m" "memory" "128Mi") "limits" (dict "memory" "512Mi"))
  "migrate" (dict "requests" (dict "cpu" "100m" "memory" "64Mi") "limits" (dict "memory" "256Mi")) -}}
{{- $values := get .root.Values .component -}}
{{- toYaml (mustMergeOverwrite (get $measured .component) (deepCopy $values.resources)) -}}
{{- end -}}

{{- define "trapline.podSecurityContext" -}}
{{- $default := dict "runAsNonRoot" true "runAsUser" 65532 "runAsGroup" 65532 "fsGroup" 65532
  "fsGroupChangePolicy" "OnRootMismatch" "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- toYaml (mustMergeOverwrite $default (deepCopy .Values.podSecurityContext)) -}}
{{- end -}}

{{- define "trapline.containerSecurityContext" -}}
{{- $default := dict "readOnlyRootFilesystem" true "allowPrivilegeEscalation" false
  "capabilities" (dict "drop" (list "ALL")) -}}
{{- toYaml (mustMergeOverwrite $default (deepCopy .Values.containerSecurityContext)) -}}
{{- end -}}

{{/* Takes {default, values}. */}}
{{- define "trapline.probe" -}}
{{- toYaml (mustMergeOverwrite .default (deepCopy .values)) -}}
{{- end -}}

{{/*
A start has four minutes, for a large database. A service that is lost for half a minute takes no pod
out: all would go at once, and clients would meet closed ports instead of 451 and 503.
*/}}
{{- define "trapline.probes" -}}
{{- $livez := dict "path" "/livez" "port" "http" -}}
{{- $path := ternary "/readyz?services=false" "/readyz" (eq .Values.probes.readiness "process") -}}
{{- $readyz := dict "path" $path "port" "http" -}}
startupProbe:
  {{- include "trapline.probe" (dict "values" .Values.probes.startup "default"
    (dict "httpGet" $livez "periodSeconds" 2 "timeoutSeconds" 2 "failureThreshold" 120)) | nindent 2 }}
livenessProbe:
  {{- include "trapline.probe" (dict "values" .Values.probes.liveness "default"
    (dict "httpGet" $livez "periodSeconds" 10 "timeoutSeconds" 5 "failureThreshold" 6)) | nindent 2 }}
readinessProbe:
  {{- include "trapline.probe" (dict "values" .Values.probes.ready "default"
    (dict "httpGet" $readyz "periodSeconds" 5 "timeoutSeconds" 5 "failureThreshold" 6)) | nindent 2 }}
{{- end -}}

{{/* Whether a component serves the API over TLS. Takes {root, component}. */}}
{{- define "trapline.https" -}}
{{- if and .root.Values.api.https.enabled (has .component (list "embedded" "api")) -}}yes{{- end -}}
{{- end -}}

{{/* The Secret with the certificate that a component shows, if it is not made. Takes {root, component}. */}}
{{- define "trapline.tlsSecret" -}}
{{- if has .component (list "embedded" "smtp") -}}
{{- .root.Values.smtp.tls.existingSecret -}}
{{- else if include "trapline.https" . -}}
{{- .root.Values.api.https.existingSecret -}}
{{- end -}}
{{- end -}}

{{/* Takes {root, component}. */}}
{{- define "trapline.ports" -}}
- { name: http, containerPort: 8025, protocol: TCP }
{{- if include "trapline.https" . }}
- { name: https, containerPort: 8443, protocol: TCP }
{{- end }}
{{- if has .component (list "embedded" "smtp") }}
- { name: smtp, containerPort: 1025, protocol: TCP }
- { name: smtps, containerPort: 1465, protocol: TCP }
{{- end }}
{{- end -}}

{{/* Whether a pod has the volume of archives. Takes {root, component}. */}}
{{- define "trapline.backupVolume" -}}
{{- $backup := .root.Values.backup -}}
{{- if and $backup.enabled $backup.existingClaim (has .component (list "embedded" "backup")) -}}yes{{- end -}}
{{- end -}}

{{/* Where files are found. Takes {root, component}. */}}
{{- define "trapline.mounts" -}}
{{- $pod := (get .root.Values .component).pod | default dict -}}
- { name: tmp, mountPath: /tmp }
{{- if eq .component "embedded" }}
- { name: data, mountPath: /data }
{{- end }}
{{- if include "trapline.backupVolume" . }}
- { name: backups, mountPath: /backups }
{{- end }}
{{- if include "trapline.tlsSecret" . }}
- { name: tls, mountPath: /etc/trapline/tls, readOnly: true }
{{- end }}
{{- if or .root.Values.certificates.secret .root.Values.certificates.configMap }}
- { name: certificates, mountPath: /etc/trapline/certificates, readOnly: true }
{{- end }}
{{- with $pod.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The volumes but for one that a StatefulSet claims. Takes {root, component}. */}}
{{- define "trapline.volumes" -}}
{{- $pod := (get .root.Values .component).pod | default dict -}}
{{- $disk := .root.Values.embedded.persistence -}}
- name: tmp
  emptyDir: {}
{{- if eq .component "embedded" }}
{{- if not $disk.enabled }}
- name: data
  emptyDir: {}
{{- else if $disk.existingClaim }}
- name: data
  persistentVolumeClaim:
    claimName: {{ $disk.existingClaim }}
{{- end }}
{{- end }}
{{- if include "trapline.backupVolume" . }}
- name: backups
  persistentVolumeClaim:
    claimName: {{ .root.Values.backup.existingClaim }}
{{- end }}
{{- with include "trapline.tlsSecret" . }}
- name: tls
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- with .root.Values.certificates.secret }}
- name: certificates
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- with .root.Values.certificates.configMap }}
- name: certificates
  configMap:
    name: {{ . }}
{{- end }}
{{- with $pod.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The process of a component. Takes {root, component}. */}}
{{- define "trapline.container" -}}
name: {{ .component }}
image: {{ include "trapline.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: [{{ include "trapline.command" .component }}{{ if ne .component "backup" }}, --quiet{{ end }}]
env:
  {{- include "trapline.env" . | trim | nindent 2 }}
{{- if not (has .component (list "migrate" "backup")) }}
ports:
  {{- include "trapline.ports" . | nindent 2 }}
{{ include "trapline.probes" .root }}
{{- end }}
resources:
  {{- include "trapline.resources" . | nindent 2 }}
securityContext:
  {{- include "trapline.containerSecurityContext" .root | nindent 2 }}
volumeMounts:
  {{- include "trapline.mounts" . | nindent 2 }}
{{- end -}}

{{/* Spread over zones and nodes as far as that goes. Takes {root, component}. */}}
{{- define "trapline.spread" -}}
{{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- maxSkew: 1
  topologyKey: {{ $key }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "trapline.selector" $ | nindent 6 }}
{{- end }}
{{- end -}}

{{/* The pod of every component. Takes {root, component}, and the name of its service account. */}}
{{- define "trapline.podSpec" -}}
{{- $pod := (get .root.Values .component).pod | default dict -}}
serviceAccountName: {{ .serviceAccount | default (include "trapline.serviceAccount" .root) }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
securityContext:
  {{- include "trapline.podSecurityContext" .root | nindent 2 }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - {{- include "trapline.container" . | nindent 4 }}
  {{- with $pod.extraContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
volumes:
  {{- include "trapline.volumes" . | nindent 2 }}
{{- if has .component (list "api" "smtp" "worker") }}
topologySpreadConstraints:
  {{- if $pod.topologySpreadConstraints }}
  {{- toYaml $pod.topologySpreadConstraints | nindent 2 }}
  {{- else }}
  {{- include "trapline.spread" . | trim | nindent 2 }}
  {{- end }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" "dnsConfig" }}
{{- with get $pod $key }}
{{ dict $key . | toYaml }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Takes {root, component}. */}}
{{- define "trapline.podTemplate" -}}
{{- $pod := (get .root.Values .component).pod | default dict -}}
metadata:
  labels:
    {{- toYaml (merge (include "trapline.selector" . | fromYaml) (default dict $pod.labels) .root.Values.commonLabels) | nindent 4 }}
  {{- with merge (dict) (default dict $pod.annotations) .root.Values.commonAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "trapline.podSpec" . | nindent 2 }}
{{- end -}}
