import { defineError } from '../../kernel/index.ts'
import { DocumentService } from '../shared/descriptions/document-service.ts'
import type { OpenApiDocument } from './types.ts'

const OpenApiBeforeBootError = defineError(
  'OpenApiBeforeBootError',
  () =>
    'the description of a server is not available before boot. Call await server.ready() first, or use describeServer(server) of framework/plugins/openapi',
)

/** Describes one server: the service `openapi`. */
export class ApiDescription extends DocumentService<OpenApiDocument> {
  constructor() {
    super(OpenApiBeforeBootError)
  }

  /**
   * Returns the current description of the routes. It is the same object until they change, so modify only a copy.
   *
   * @throws OpenApiBeforeBootError before `setup`.
   * @example
   * import { writeFileSync } from 'node:fs'
   * import { Server } from 'framework'
   *
   * const server = new Server({ plugins: { openapi: true } })
   * await server.ready()
   * writeFileSync('openapi.json', JSON.stringify(server.services.get('openapi').document(), null, 2))
   */
  override document(): OpenApiDocument {
    return super.document()
  }
}
