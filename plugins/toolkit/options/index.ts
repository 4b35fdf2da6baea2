export type { AnyCheck, Check, Need, SettingsOf } from './check.ts'
export * as option from './option.ts'
export { sizeOption } from './size.ts'
