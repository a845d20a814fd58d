// SPDX-License-Identifier: Apache-2.0

/** What documents share. The notation is explained in `schema.ts`. */
export const commonTypes: Readonly<Record<string, string>> = {
  "meta.Meta": `
    MetaAPIVersion apiVersion? string
    MetaKind kind string
  `,
  "meta.CertificateAndKey": `
    Cert cert? string
    Key key? string
  `,
  "x509.pair": `
    Crt crt base64
    Key key base64
  `,
  "x509.certificate": `
    Crt crt base64
  `,
  "x509.key": `
    Key key base64
  `,
};
