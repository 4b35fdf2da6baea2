export { json } from './plugin.ts'
