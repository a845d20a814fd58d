// SPDX-License-Identifier: Apache-2.0

/** Where the person is: which machine is chosen, and whether its own screen is open. */
export interface DashboardState {
  readonly chosen: number;
  readonly open: boolean;
  readonly ended: boolean;
}

export const firstState: DashboardState = { chosen: 0, open: false, ended: false };

/** What a key, as a terminal sends it, does. `machines` is how many there are to choose from. */
export function afterKey(state: DashboardState, key: string, machines: number): DashboardState {
  const last = Math.max(0, machines - 1);
  const choose = (chosen: number) => ({ ...state, chosen: Math.min(last, Math.max(0, chosen)) });
  switch (key) {
    case "q":
    case "\u0003":
      return { ...state, ended: true };
    case "\u001b[A":
    case "k":
      return choose(state.chosen - 1);
    case "\u001b[B":
    case "j":
      return choose(state.chosen + 1);
    case "\u001b[H":
      return choose(0);
    case "\u001b[F":
      return choose(last);
    case "\r":
    case "\u001b[C":
      return { ...state, open: machines > 0 };
    case "\u001b":
    case "\u001b[D":
      return { ...state, open: false };
    default:
      return state;
  }
}
