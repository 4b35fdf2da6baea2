import { option, type SettingsOf } from '../shared/options/index.ts'

/** Options of the form parser. */
export interface UrlencodedOptions {
  /** Limit for the body: bytes, or a string such as `'1mb'`. Default `'1mb'`; a larger body is refused with 413. */
  sizeLimit?: number | string
}

export const urlencodedOptions = option.shape({ sizeLimit: option.size().default('1mb') }).typed<UrlencodedOptions>()

export type UrlencodedSettings = SettingsOf<typeof urlencodedOptions>

/** Options of one route; `false`: its body is left unread. */
export const urlencodedOfRoute = option.overrides(urlencodedOptions)
