import type { Request } from '../../kernel/index.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { CacheTrace } from './middleware.ts'

export const work: readonly WorkKind[] = [
  workKind<CacheTrace>({
    channel: 'cache',
    form: 'moment',
    list: { id: 'cache', title: 'Cache' },
    help: 'Requests to routes with a cache: hit, miss, wait (for the one that computes it) or bypass',
    span: () => 'cache',
    note: ({ outcome }) => outcome,
    labels: { outcome: { attribute: 'framework.cache.outcome', of: ({ outcome }) => outcome.toLowerCase() } },
    request: ({ response }) => (response as { readonly request?: Request }).request,
    metric: 'cache.requests',
  }),
]
