import fresh from 'fresh'
import type { Handler, Request, Response } from '../../kernel/index.ts'
import type { ApiDescription, Written } from './service.ts'

/** Answers with a text, or 304 to who has it. */
export function sendWritten(req: Request, res: Response, type: string, { text, etag }: Written): Response {
  // `no-cache`: it may be kept, and is asked for each time.
  res.header('cache-control', 'no-cache').header('etag', etag)
  if (isKnown(req, etag)) return res.status(304).send()
  return res.type(type).bytes(Buffer.from(text))
}

/** Whether the client has it. What it says of caches is not for the origin, and `fetch` says it by itself. */
export function isKnown({ headers }: Request, etag: string): boolean {
  return fresh({ 'if-none-match': headers['if-none-match'] }, { etag })
}

/** The handlers of the two forms of the document. */
export function documentRoutes(service: ApiDescription): { json: Handler; yaml: Handler } {
  return {
    json: function openapiJson(req, res) {
      return sendWritten(req, res, 'json', service.json())
    },
    yaml: async function openapiYaml(req, res) {
      return sendWritten(req, res, 'yaml', await service.yaml())
    },
  }
}
