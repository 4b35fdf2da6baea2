export { log } from './plugin.ts'
