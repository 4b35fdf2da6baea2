import type { KernelRequest } from '../../kernel/http/request/request.ts'
import type { KernelResponse } from '../../kernel/http/response/response-buffer.ts'
import type { Link, Terminal } from '../../kernel/pipeline/chain.ts'
import type { Built } from './built.ts'
import type { MicroCase } from './harness.ts'

const request = { method: 'GET', path: '/' } as KernelRequest
const hello = { hello: 'world' }
const terminal: Terminal = () => hello

const lists: Record<string, Link[]> = {
  'no middleware': [],
  '4 synchronous middlewares': synchronous(4),
  '8 synchronous middlewares': synchronous(8),
  '4 asynchronous middlewares': Array.from({ length: 4 }, (_, i) => ({
    name: `async-${i}`,
    run: async (_req, _res, next) => {
      await next()
    },
  })),
}

function synchronous(count: number): Link[] {
  return Array.from({ length: count }, (_, i) => ({ name: `sync-${i}`, run: (_req, _res, next) => next() }))
}

/** The chain by hand: an index, no check for a second `next()` or a stopped chain, and no timeout. */
function byHand(links: readonly Link[], index: number, res: KernelResponse): unknown {
  if (index === links.length) {
    res.sendWith(terminal(request, res), 0)
    return undefined
  }
  return links[index]!.run(request, res, () => byHand(links, index + 1, res) as void | Promise<void>)
}

/** Compares the chain with a hand-written loop: the difference is the cost of its guarantees. Both create and fill a response. */
export async function chainCases(built: Built): Promise<MicroCase[]> {
  const [{ runChain }, { KernelResponse }] = await Promise.all([built.compose(), built.response()])
  return Object.entries(lists).flatMap(([group, links]): MicroCase[] => [
    {
      group,
      name: 'by hand',
      async run(times) {
        for (let i = 0; i < times; i++) {
          const res = new KernelResponse(request)
          const result = byHand(links, 0, res)
          if (result !== undefined) await result
          if (!res.answered) throw new Error('no response')
        }
      },
    },
    {
      group,
      name: 'framework',
      async run(times) {
        for (let i = 0; i < times; i++) {
          const res = new KernelResponse(request)
          const result = runChain(links, 0, terminal, request, res)
          if (result !== undefined) await result
          if (!res.answered) throw new Error('no response')
        }
      },
    },
  ])
}
