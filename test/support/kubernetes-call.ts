// SPDX-License-Identifier: Apache-2.0
import { request } from "node:https";
import { parse } from "yaml";

/** One call with the first cluster and user of a kubeconfig, independent of our own client. */
export function kubernetesCall(kubeconfig: string, method: string, path: string, body?: object): Promise<string> {
  const { clusters, users } = parse(kubeconfig);
  const decode = (text: string) => Buffer.from(text, "base64").toString();
  return new Promise((resolve, reject) => {
    request(
      `${clusters[0].cluster.server}${path}`,
      {
        method,
        ca: decode(clusters[0].cluster["certificate-authority-data"]),
        cert: decode(users[0].user["client-certificate-data"]),
        key: decode(users[0].user["client-key-data"]),
        headers: { "content-type": "application/json" },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part) => {
          text += part;
        });
        const good = () => (response.statusCode ?? 0) >= 200 && (response.statusCode ?? 0) < 300;
        response.on("end", () =>
          good() ? resolve(text) : reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`)),
        );
      },
    )
      .on("error", reject)
      .end(body === undefined ? undefined : JSON.stringify(body));
  });
}
