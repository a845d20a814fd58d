// SPDX-License-Identifier: Apache-2.0
import { request } from "node:https";
import { parse } from "yaml";

/** GET with the first cluster and user of a kubeconfig, independent of our own client. */
export function kubernetesGet(kubeconfig: string, path: string): Promise<string> {
  const { clusters, users } = parse(kubeconfig);
  const decode = (text: string) => Buffer.from(text, "base64").toString();
  return new Promise((resolve, reject) => {
    request(
      `${clusters[0].cluster.server}${path}`,
      {
        ca: decode(clusters[0].cluster["certificate-authority-data"]),
        cert: decode(users[0].user["client-certificate-data"]),
        key: decode(users[0].user["client-key-data"]),
      },
      (response) => {
        let body = "";
        response.on("data", (chunk) => {
          body += chunk;
        });
        response.on("end", () =>
          response.statusCode === 200 ? resolve(body) : reject(new Error(`${path}: ${response.statusCode} ${body}`)),
        );
      },
    )
      .on("error", reject)
      .end();
  });
}
