export type { AnyCheck, Need, SettingsOf } from './check.ts'
export { Check } from './check.ts'
export * as option from './option.ts'
export { sizeOption } from './size.ts'
