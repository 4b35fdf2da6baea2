import { describe } from 'vitest'
import { suiteOf } from '../support/protocols.ts'

const suite = (await suiteOf('imported-classes', 'legacy')) as (protocol: string) => void
describe('legacy', () => suite('legacy'))
