import { defineError } from '../../kernel/index.ts'
import { DocumentService } from '../shared/descriptions/document-service.ts'
import type { AsyncApiDocument } from './types.ts'

const AsyncApiBeforeBootError = defineError(
  'AsyncApiBeforeBootError',
  () =>
    'the messages of a server are unknown before boot. Call await server.ready() first, or use describeMessages(server) of framework/plugins/asyncapi',
)

/** Describes the messages of one server: the service `asyncapi`. */
export class MessageDescription extends DocumentService<AsyncApiDocument> {
  constructor() {
    super(AsyncApiBeforeBootError)
  }

  /**
   * Returns the current description of the messages. It is the same object until they change, so modify only a copy.
   *
   * @throws AsyncApiBeforeBootError before `setup`.
   * @example
   * import { writeFileSync } from 'node:fs'
   * import { Server } from 'framework'
   *
   * const server = new Server({ plugins: { asyncapi: true } })
   * await server.ready()
   * writeFileSync('asyncapi.json', JSON.stringify(server.services.get('asyncapi').document(), null, 2))
   */
  override document(): AsyncApiDocument {
    return super.document()
  }
}
