import type { Adapter } from './adapter.ts'
import { detectRuntime, type RuntimeName } from './runtime-name.ts'

/** Loads the adapter for a runtime; if none is named, for the current one. `'node'` runs everywhere. */
export async function loadAdapter(name: RuntimeName = detectRuntime()): Promise<Adapter> {
  switch (name) {
    case 'bun':
      return (await import('./bun.ts')).bunAdapter()
    case 'deno':
      return (await import('./deno.ts')).denoAdapter()
    case 'node':
      return (await import('./node/node.ts')).nodeAdapter()
  }
}
