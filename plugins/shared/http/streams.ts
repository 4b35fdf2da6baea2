export { openSource } from '../../../kernel/http/streams.ts'
