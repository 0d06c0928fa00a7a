{{/* Down slowly: a process that ends sends its clients elsewhere. */}}
{{- define "trapline.scaleBehavior" -}}
{{- $default := dict "scaleDown" (dict "stabilizationWindowSeconds" 300
  "policies" (list (dict "type" "Pods" "value" 1 "periodSeconds" 60))) -}}
{{- toYaml (mustMergeOverwrite $default (deepCopy .behavior)) -}}
{{- end -}}

{{/* A trigger of KEDA that asks Prometheus. Takes {root, query, threshold}. */}}
{{- define "trapline.prometheusTrigger" -}}
{{- $prometheus := .root.Values.keda.prometheus -}}
{{- if not $prometheus.serverAddress -}}
{{- fail "autoscaling.engine keda of api and smtp needs keda.prometheus.serverAddress" -}}
{{- end -}}
- type: prometheus
  metadata:
    serverAddress: {{ $prometheus.serverAddress }}
    query: {{ .query }}
    threshold: {{ .threshold | quote }}
  {{- with $prometheus.authenticationRef }}
  authenticationRef: { name: {{ . }} }
  {{- end }}
{{- end -}}

{{/* A trigger for each lane; the stream and its consumers are those that `trapline migrate` makes. */}}
{{- define "trapline.natsTriggers" -}}
{{- $nats := .Values.keda.nats -}}
{{- if not $nats.monitoringEndpoint -}}
{{- fail "worker.autoscaling.engine keda needs keda.nats.monitoringEndpoint, such as nats.nats.svc:8222" -}}
{{- end -}}
{{- $keyspace := default "trapline" (get .Values.settings "cql-keyspace") -}}
{{- range $lane, $lag := .Values.worker.autoscaling.lag }}
- type: nats-jetstream
  metadata:
    natsServerMonitoringEndpoint: {{ $nats.monitoringEndpoint }}
    account: {{ $nats.account | quote }}
    stream: {{ upper $keyspace }}_JOBS
    consumer: {{ $lane }}
    lagThreshold: {{ $lag | quote }}
    useHttps: {{ $nats.useHttps | quote }}
{{- end }}
{{- end -}}
