// The same with four times as many secrets, cut at more places.
import './redact-text.test.ts'
