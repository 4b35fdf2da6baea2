import { describe } from 'vitest'
import { testDistinctKeys, testDistinctRequests } from './distinct.ts'

describe('keys', () => testDistinctRequests(25_000))
describe('the memory of the process', () => testDistinctKeys(1_000_000))
