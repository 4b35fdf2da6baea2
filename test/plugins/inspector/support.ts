import { type InjectRequest, RouteCollection, Server } from 'framework'
import { memoryLogger } from '../../support/kernel.ts'

/** What the page receives of one piece of work. */
export interface Shown {
  id: number
  kind: string
  title: string
  note: string
  trace: string
  parent?: number
  outcome: string
  data: Record<string, unknown>
  error?: { message: string; stack: string }
  http: {
    request: { headers: [string, string][]; body?: { size: number; text?: string; why?: string } }
    response: { status: number; headers: [string, string][]; body?: { size: number; text?: string; why?: string } }
    explained: { name: string; plugin: string }[]
    replay?: string
  }
  related: (Shown & { marks: { name: string; ms?: number }[] })[]
  replays: Shown[]
}

export const servers: Server[] = []

export function makeServer(inspector: object | true = true, more: object = {}) {
  const logger = memoryLogger()
  const plugins = { inspector, ...more } as { inspector: true }
  const server = new Server({ plugins, router: new RouteCollection(), logger, port: 0, host: '127.0.0.1' })
  servers.push(server as unknown as Server)
  return { server, log: logger.entries }
}

const addressOf = (server: object): string =>
  (server as { [mark: symbol]: { what: string; path: string }[] })[Symbol.for('framework.pages')]!.find(
    ({ what }) => what === 'inspector',
  )!.path

/** The address of the page, with the token. */
export async function visit(server: Server<{}>): Promise<string> {
  await server.ready()
  return addressOf(server)
}

/** Someone who has visited the page. */
export async function lookAt(server: Server<{}>) {
  const address = await visit(server)
  const res = await server.inject({ url: address })
  const cookie = String(res.headers['set-cookie']).split(';')[0]!
  const send = (request: InjectRequest) =>
    server.inject({ ...request, headers: { cookie, 'sec-fetch-site': 'same-origin', ...request.headers } })
  const json = async <Answer>(path: string, body?: object): Promise<Answer> => {
    const given = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const answer = await send({ url: `/_inspector/api/${path}`, ...given })
    return JSON.parse(new TextDecoder().decode(answer.body)) as Answer
  }
  return {
    cookie,
    send,
    json,
    list: (kind: string) => json<Shown[]>(`list?kind=${kind}`),
    details: (id: number) => json<Shown>(`activity?id=${id}`),
    async newest(kind: string) {
      const [first] = await json<Shown[]>(`list?kind=${kind}`)
      return json<Shown>(`activity?id=${first!.id}`)
    },
  }
}

/** The event in a chunk that a page receives. */
export function eventIn({ value }: { readonly value?: Uint8Array }): { event: string; data: object[] } {
  const [, event = '', data = ''] = /^event: (\w+)\n(?:retry: \d+\n)?data: (.*)\n\n$/.exec(
    Buffer.from(value!).toString(),
  )!
  return { event, data: JSON.parse(data) as object[] }
}
