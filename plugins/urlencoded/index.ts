export type { UrlencodedOptions } from './options.ts'
export { urlencoded } from './plugin.ts'
