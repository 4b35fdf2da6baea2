export { cors } from './plugin.ts'
