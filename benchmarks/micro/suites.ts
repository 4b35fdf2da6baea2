import { bodiesCases } from './bodies.ts'
import type { Built } from './built.ts'
import { chainCases } from './chain.ts'
import type { MicroCase, Pace } from './harness.ts'
import { injectCases } from './inject.ts'
import { responsesCases } from './responses.ts'
import { routerCases } from './router.ts'

export interface MicroSuite extends Pace {
  readonly title: string
  readonly reference: string
  cases(built: Built): Promise<MicroCase[]>
}

const short: Pace = { sliceMs: 25, warmMs: 250 }
// fastify.inject runs through so much code that its cost still halves after a second.
const long: Pace = { sliceMs: 80, warmMs: 2000 }

export const microSuites = {
  router: { title: 'Router', reference: 'find-my-way', ...short, cases: routerCases },
  chain: { title: 'Chain of middlewares', reference: 'by hand', ...short, cases: chainCases },
  responses: { title: 'Answers by a schema', reference: 'fast-json-stringify', ...short, cases: responsesCases },
  bodies: { title: 'Bodies', reference: 'by hand', sliceMs: 60, warmMs: 600, cases: bodiesCases },
  inject: { title: 'Inject', reference: 'fastify.inject', ...long, cases: injectCases },
} as const satisfies Record<string, MicroSuite>

export type MicroName = keyof typeof microSuites
