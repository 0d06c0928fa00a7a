{{/* The command of a component's process. */}}
{{- define "trapline.command" -}}
{{- if eq . "embedded" -}}serve{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{/*
The settings of a component as a list of variables: what the chart knows, then `settings`, then those
of the role. A setting that a role does not take is left out, or a fault where it is said of that role.
Takes {root, component}; files/settings.json says which command takes what.
*/}}
{{- define "trapline.settings" -}}
{{- $known := .root.Files.Get "files/settings.json" | fromJson -}}
{{- $command := include "trapline.command" .component -}}
{{- $ports := .root.Values.smtp.service.ports -}}
{{- $all := dict
  "base-url" (include "trapline.baseUrl" .root)
  "smtp-host" (printf "%s-smtp.%s.svc" (include "trapline.fullname" .root) .root.Release.Namespace)
  "smtp-port" $ports.smtp
  "smtps-port" $ports.smtps
  "shutdown-delay" "5s" -}}
{{- if .root.Values.api.https.enabled -}}
{{- $_ := set $all "https-port" .root.Values.api.https.port -}}
{{- end -}}
{{- $proxy := .root.Values.smtp.proxyProtocol -}}
{{- if $proxy.enabled -}}
{{- $_ := set $all "smtp-proxy-protocol" "required" -}}
{{- $_ := set $all "smtp-proxy-from" (join "," $proxy.from) -}}
{{- end -}}
{{- $backup := .root.Values.backup -}}
{{- if and $backup.enabled (eq .component "embedded") -}}
{{- $_ := set $all "backup-every" $backup.every -}}
{{- $_ := set $all "backup-keep" $backup.keep -}}
{{- end -}}
{{- $all = merge (dict) .root.Values.settings $all -}}
{{- $own := (get .root.Values .component | default dict).settings | default dict -}}
{{- range $name, $_ := $own -}}
{{- if not (has $command (get $known $name).of) -}}
{{- fail (printf "%s.settings.%s: `trapline %s` does not take it; see docs/configuration.md" $.component $name $command) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := merge (dict) $own $all -}}
{{- $setting := get $known $name -}}
{{- $takes := has $command $setting.of -}}
{{- if eq $command "backup" -}}
{{- $takes = eq $name "cql-keyspace" -}}
{{- end -}}
{{- if $takes }}
- name: {{ $setting.variable }}
  value: {{ if kindIs "float64" $value }}{{ printf "%.0f" $value | quote }}{{ else }}{{ toString $value | quote }}{{ end }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The secrets of a component as variables that refer to the Secret. Takes {root, component}. */}}
{{- define "trapline.secrets" -}}
{{- $command := include "trapline.command" .component -}}
{{- $secrets := .root.Values.secrets -}}
{{- $known := .root.Files.Get "files/settings.json" | fromJson -}}
{{- if $secrets.existingSecret -}}
{{- range $name, $key := $secrets.keys -}}
{{- $setting := get $known (kebabcase $name) -}}
{{- $takes := has $command $setting.of -}}
{{- if eq $.component "backup" -}}
{{- $takes = has $name (list "secretKey" "cql" "blobs" "nats" "redis" "backupTo") -}}
{{- end -}}
{{- if and $key $takes }}
- name: {{ $setting.variable }}
  valueFrom:
    secretKeyRef:
      name: {{ $secrets.existingSecret }}
      key: {{ $key }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* All variables of a component. Takes {root, component}. */}}
{{- define "trapline.env" -}}
{{- $values := get .root.Values .component | default dict -}}
{{- if not (has .component (list "migrate" "backup")) }}
- name: TRAPLINE_HTTP
  value: "0.0.0.0:8025"
{{- end }}
{{- if has .component (list "embedded" "smtp") }}
- name: TRAPLINE_SMTP
  value: "0.0.0.0:1025"
- name: TRAPLINE_SMTPS
  value: "0.0.0.0:1465"
{{- end }}
{{- if include "trapline.https" . }}
- name: TRAPLINE_HTTPS
  value: "0.0.0.0:8443"
{{- end }}
{{- if include "trapline.tlsSecret" . }}
- name: TRAPLINE_TLS_CERT
  value: /etc/trapline/tls/tls.crt
- name: TRAPLINE_TLS_KEY
  value: /etc/trapline/tls/tls.key
{{- end }}
{{- if eq .component "embedded" }}
- name: TRAPLINE_DATA
  value: /data
{{- end }}
{{- if include "trapline.backupVolume" . }}
- name: TRAPLINE_BACKUP_TO
  value: /backups
{{- end }}
{{- include "trapline.settings" . }}
{{- include "trapline.secrets" . }}
{{- with ($values.pod | default dict).extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}
