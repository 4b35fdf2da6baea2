export { health } from './plugin.ts'
