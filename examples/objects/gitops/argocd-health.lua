-- Health of the kinds of talosmith.dev, for resource.customizations.health.talosmith.dev_<kind> in argocd-cm.
local health = { status = "Progressing", message = "not observed yet" }
local status = obj.status
if status == nil then return health end
if status.phase == "Failed" then
  return { status = "Degraded", message = status.conditions and status.conditions[1] and status.conditions[1].message or "failed" }
end
if status.observedGeneration ~= nil and status.observedGeneration < obj.metadata.generation then
  return { status = "Progressing", message = "the spec is newer than the status" }
end
for _, condition in ipairs(status.conditions or {}) do
  if condition.type == "Degraded" and condition.status == "True" then
    return { status = "Degraded", message = condition.message }
  end
end
for _, condition in ipairs(status.conditions or {}) do
  if condition.type == "Ready" or condition.type == "Complete" then
    if condition.status == "True" then return { status = "Healthy", message = condition.message } end
    health.message = condition.message
  end
end
return health
