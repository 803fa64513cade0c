// The service under test: the one that BASE_URL names, or a process of our own on a free port with a fresh database.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const here = import.meta.dirname;
export const ROOT = path.resolve(here, "../../..");
const PATIENCE_MS = 30_000;

/** `{url, stop}`; `stop` ends what was started here and nothing else. */
export async function startServer() {
  if (process.env.BASE_URL) return { url: process.env.BASE_URL.replace(/\/$/, ""), stop: async () => {} };
  const binary = path.resolve(here, "..", process.env.ORDER_SERVICE_BIN ?? "../../target/debug/order-service");
  const directory = await mkdtemp(path.join(os.tmpdir(), "order-service-e2e-"));
  const port = await freePort();
  const child = spawn(binary, [], { cwd: ROOT, env: settings(port, directory), stdio: ["ignore", "pipe", "pipe"] });
  const log = collect(child);
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGTERM");
      await once(child, "exit");
    }
    await rm(directory, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  await ready(url, child, log).catch(async (error) => {
    await stop();
    throw error;
  });
  return { url, stop };
}

const settings = (port, directory) => ({
  ...process.env,
  ORDER_PROFILE: "development",
  ORDER__SERVER__HOST: "127.0.0.1",
  ORDER__SERVER__PORT: String(port),
  ORDER__DATABASE__URL: `sqlite://${directory}/orders.db`,
});

async function freePort() {
  const probe = net.createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}

function collect(child) {
  const log = { text: "" };
  child.on("error", (error) => (log.text += `${error.message}\n`));
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (log.text += bytes));
  return log;
}

async function ready(url, child, log) {
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    if (child.pid === undefined || child.exitCode !== null) break;
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer?.ok) return;
    await pause(50);
  }
  throw new Error(`the service did not become ready:\n${log.text.slice(-4000)}`);
}
