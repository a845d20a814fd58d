// SPDX-License-Identifier: Apache-2.0

/** The templates that are used where an environment brings none of its own. `{{x}}` is always a whole YAML value. */
export const defaultTemplates = {
  metaData: `instance-id: {{instanceId}}
local-hostname: {{hostname}}
`,
  networkConfig: `version: 2
ethernets:
  eth0:
    match:
      macaddress: {{mac}}
    dhcp4: false
    addresses:
      - {{address}}
    routes:
      - to: default
        via: {{gateway}}
    nameservers:
      addresses: {{nameservers}}
`,
} as const;
