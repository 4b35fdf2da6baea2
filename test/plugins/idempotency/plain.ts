import type { Server } from 'framework'

/** The values of a response of `inject`, which has methods. */
export interface Plain {
  readonly status: number
  readonly body: unknown
  readonly text: string
  readonly bytes: Uint8Array
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
}

type Verb = 'post' | 'put' | 'delete'

export async function sendTo(
  server: Server,
  path: string,
  headers: { readonly [name: string]: string },
  more: { readonly verb?: Verb; readonly body?: unknown; readonly signal?: AbortSignal } = {},
): Promise<Plain> {
  const { verb = 'post', ...rest } = more
  const res = await server.inject[verb](path, { headers, ...rest })
  return {
    status: res.statusCode(),
    body: res.body(),
    text: res.text(),
    bytes: res.raw(),
    headers: res.headers() as Plain['headers'],
  }
}
