import type { Built } from './built.ts'
import { chainCases } from './chain.ts'
import type { MicroCase } from './harness.ts'
import { injectCases } from './inject.ts'
import { routerCases } from './router.ts'

export interface MicroSuite {
  readonly title: string
  readonly reference: string
  cases(built: Built): Promise<MicroCase[]>
}

export const microSuites = {
  router: { title: 'Router', reference: 'find-my-way', cases: routerCases },
  chain: { title: 'Chain of middlewares', reference: 'by hand', cases: chainCases },
  inject: { title: 'Inject', reference: 'fastify.inject', cases: injectCases },
} as const satisfies Record<string, MicroSuite>

export type MicroName = keyof typeof microSuites
