// Whether this server is a development server; production has no such door.

import { isDevelopment } from "./api.js";

let development = false;

export async function discover() {
  development = await isDevelopment().catch(() => false);
}

export const enabled = () => development;
