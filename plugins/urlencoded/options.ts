import { option, type SettingsOf } from '../toolkit/options/index.ts'

/** Options of the form parser. */
export interface UrlencodedOptions {
  /** Limit for the body: bytes, or a size like `'1mb'`. Default `'1mb'`; more is 413. */
  sizeLimit?: number | string
}

export const urlencodedOptions = option.shape({ sizeLimit: option.size().default('1mb') }).typed<UrlencodedOptions>()

export type UrlencodedSettings = SettingsOf<typeof urlencodedOptions>

/** For one route; `false`: its body is left unread. */
export const urlencodedOfRoute = option.overrides(urlencodedOptions)
