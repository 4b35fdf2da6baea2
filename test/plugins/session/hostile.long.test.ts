// The same with five times as many forged cookies.
import './hostile.test.ts'
