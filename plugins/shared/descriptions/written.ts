import type { Handler, Request, Response } from '../../../kernel/index.ts'
import { isKnown } from '../http/validators.ts'
import type { Written } from './document-service.ts'

/** Responds with a document, or with 304 to a client that has it. */
export function sendWritten(req: Request, res: Response, type: string, { text, etag }: Written): Response {
  // `no-cache`: clients may keep it, but must revalidate it each time.
  res.header('cache-control', 'no-cache').header('etag', etag)
  if (isKnown(req.headers, { etag })) return res.status(304).send()
  return res.type(type).bytes(Buffer.from(text))
}

/** The handlers of the two forms of a document. */
export function documentRoutes(service: { json(): Written; yaml(): Promise<Written> }): {
  json: Handler
  yaml: Handler
} {
  return {
    json: function descriptionJson(req, res) {
      return sendWritten(req, res, 'json', service.json())
    },
    yaml: async function descriptionYaml(req, res) {
      return sendWritten(req, res, 'yaml', await service.yaml())
    },
  }
}
