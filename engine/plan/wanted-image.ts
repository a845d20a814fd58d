// SPDX-License-Identifier: Apache-2.0

/** An image that a machine should have before it is needed. */
export interface WantedImage {
  readonly image: string;
  /** `system`: Talos's own, such as the installer and the kubelet. `cri`: what pods run from. */
  readonly namespace: "system" | "cri";
}
