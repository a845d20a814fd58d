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
{{- range $name, $_ := ternary (dict) .Values.environments .Values.objects.enabled -}}
{{- if ne $name "base" -}}
{{- $names = append $names (printf "%s-%s" (include "talosmith.name" $) $name) -}}
{{- end -}}
{{- end -}}
{{- $names | toJson -}}
{{- end -}}

{{- /* What the operator may do with objects: in its namespace, or in every one. */ -}}
{{- define "talosmith.objectRules" -}}
- apiGroups: [talosmith.dev]
  resources: [talosclusters, talosmachinepools, talosclusteraddons]
  verbs: [get, list, watch, patch]
- apiGroups: [talosmith.dev]
  resources: [talosmachines, talosetcdbackups, talosetcdbackupschedules]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [talosmith.dev]
  resources:
    - talosclusters/status
    - talosmachinepools/status
    - talosmachines/status
    - talosetcdbackups/status
    - talosetcdbackupschedules/status
    - talosclusteraddons/status
  verbs: [patch]
# Owner references that hold back a deletion take this where the API server enforces it.
- apiGroups: [talosmith.dev]
  resources: [talosclusters/finalizers, talosetcdbackupschedules/finalizers]
  verbs: [update]
# Bundles and client files. Rights to create cannot be limited to names: give the operator a namespace of its own.
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, create, update, patch, delete]
- apiGroups: [""]
  resources: [events]
  verbs: [create]
{{- end -}}
