/** The logo: PNG, 64 by 64 pixels. It is code and not a file, because a function's bundle is one file. */
export const LOGO_PNG: Uint8Array<ArrayBuffer> = Uint8Array.from(
  Buffer.from(
    [
      'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAMAAACdt4HsAAAADFBMVEX///8YIDD///9YxIxnE+3YAAAAAXRSTlMAQObYZgAAAMVJREFUeNrt1zESwyAMRFGW',
      '3P/OTpEGY1lavh03Vs8bEEKDWhtChWhByAq4fCYkJkhMkJggMUGCAgUkKLwAXP8VbgD6L9Z3gAFLOM6BIQRJrAvRLZSF8BqrQlwHReGkkGrCWSWWhALQ198C',
      'BipC8hpzIXvOqZD2g0zIG0oi3L4DmgN6C7QOaCX2i4DH+gHtSOP6zxh+V7aB/f5dYDq/Ccz584CD/FtAp8B/P0nvR5N/168ZOPDIw4cuPvbxwZOPvnz4Xh7/',
      'NwVbENobZwEAAAAAAElFTkSuQmCC',
    ].join(''),
    'base64',
  ),
)
