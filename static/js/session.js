// Who is signed in, in this tab. Signing out leaves cart, address and order tokens where they are.

import { publisher } from "./signal.js";
import { tab } from "./storage.js";

const changes = publisher();

export const onChange = changes.subscribe;

/** `{access_token, user}` or null. */
export const current = () => tab.get("session");

export function begin(accessToken, user) {
  tab.set("session", { access_token: accessToken, user });
  tab.remove("session-ended");
  changes.publish();
}

export function end() {
  tab.remove("session");
  changes.publish();
}

/** The server refused the token: the same page comes back after signing in again. */
export function expire() {
  if (!current()) return;
  tab.set("session-ended", true);
  end();
}

export const hasExpired = () => tab.get("session-ended") === true;

/** The user that a JWT names, or null when the text is none. Only the server can tell whether it is genuine. */
export function userOf(jwt) {
  try {
    const payload = jwt.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(payload), (char) => char.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)).sub ?? null;
  } catch {
    return null;
  }
}
