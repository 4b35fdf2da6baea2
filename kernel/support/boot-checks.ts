import type { Kernel } from '../kernel.ts'

/** Looks at a server that has booted. */
export type BootCheck = (server: Kernel) => void

const checks = new Set<BootCheck>()

/**
 * Has every server of this process looked at when it has booted, also one without the plugin that asks for it: for what
 * modules have declared and only a server with that plugin runs.
 */
export function atEachBoot(check: BootCheck): void {
  checks.add(check)
}

export function checkBoot(server: Kernel): void {
  for (const check of checks) check(server)
}
