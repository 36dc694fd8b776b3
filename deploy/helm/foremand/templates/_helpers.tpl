{{- define "foremand.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "foremand.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "foremand.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "foremand.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "foremand.selector" -}}
app.kubernetes.io/name: {{ include "foremand.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "foremand.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "foremand.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "foremand.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "foremand.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "foremand.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- /* https if the server itself has a certificate. */ -}}
{{- define "foremand.scheme" -}}
{{- if dig "server" "tls" "" .Values.config -}}https{{- else -}}http{{- end -}}
{{- end -}}

{{- /* The configuration with the keys that the chart sets, as YAML. */ -}}
{{- define "foremand.config" -}}
{{- $own := dict "server" (dict "host" "0.0.0.0" "port" 8000) -}}
{{- if .Values.postgres.enabled -}}
{{- $_ := set $own "queue" (dict "url" "${DATABASE_URL}") -}}
{{- else -}}
{{- $_ := set $own "queue" (dict "db_path" "/var/lib/foremand/queue.db") -}}
{{- $_ := set $own "memory" (dict "db_path" "/var/lib/foremand/memory.db") -}}
{{- end -}}
{{- mergeOverwrite (deepCopy .Values.config) $own | toYaml -}}
{{- end -}}
