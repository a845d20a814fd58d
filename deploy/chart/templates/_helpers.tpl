{{- define "talosmith.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "talosmith.selector" -}}
app.kubernetes.io/name: talosmith
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "talosmith.labels" -}}
{{ include "talosmith.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "talosmith.serviceAccount" -}}
{{- default (include "talosmith.name" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- /* The Secrets with bundle, kubeconfig and talosconfig: one per environment, and no others are ever touched. */ -}}
{{- define "talosmith.secrets" -}}
{{- $names := list -}}
{{- range $name, $_ := .Values.environments -}}
{{- if ne $name "base" -}}
{{- $names = append $names (printf "%s-%s" (include "talosmith.name" $) $name) -}}
{{- end -}}
{{- end -}}
{{- $names | toJson -}}
{{- end -}}
