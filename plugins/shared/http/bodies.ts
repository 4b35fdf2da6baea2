import type { Bodies } from '../../../kernel/http/response/response-buffer.ts'
import { mediaType } from './media-types.ts'
import { download, sendFile } from './sent-file.ts'
import { sendEvents } from './server-sent-events.ts'
import { discard, sendObject } from './web-body.ts'

/** What every server can respond with besides JSON, strings, bytes and streams. */
export const bodies: Bodies = { mediaType, sendObject, discard, sendFile, download, sendEvents }
