import type { HostServer } from '../support/host-server.ts'

/** Called with each server that has booted. */
export type BootCheck = (server: HostServer) => void

const checks = new Set<BootCheck>()

/**
 * Runs a check on every server of this process when it has booted, also on one without the plugin that adds the check: for
 * what modules have declared and only a server with that plugin runs.
 */
export function atEachBoot(check: BootCheck): void {
  checks.add(check)
}

export function checkBoot(server: HostServer): void {
  for (const check of checks) check(server)
}
