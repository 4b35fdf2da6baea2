export { urlencoded } from './plugin.ts'
