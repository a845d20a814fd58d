// SPDX-License-Identifier: Apache-2.0

/**
 * Calls back once when the process that started us is gone. stdin can't tell (it is Terraform's own), and a killed
 * Terraform says nothing; but we then get another parent.
 */
export function watchParent(onGone: () => void, parent: () => number = () => process.ppid): { check(): void } {
  const first = parent();
  let told = false;
  const check = () => {
    if (told || parent() === first) return;
    told = true;
    clearInterval(timer);
    onGone();
  };
  const timer = setInterval(check, 1000);
  timer.unref();
  return { check };
}
