import { originOption } from '../shared/http/origins.ts'
import { option } from '../shared/options/index.ts'

/** Options of the protection against forged requests. */
export interface CsrfOptions {
  /** Other origins whose pages may send unsafe requests: `https://app.example.com`. Default: none. */
  origins?: readonly string[]
}

export const csrfOptions = option.shape({ origins: option.list(originOption).default([]).guard() }).typed<CsrfOptions>()

export const csrfOfRoute = option.off().guard()
