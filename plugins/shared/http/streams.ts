export { type BodySource, openSource } from '../../../kernel/http/streams.ts'
