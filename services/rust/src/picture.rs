//! The size of a PNG, as an upload service would tell it.

use std::io::Cursor;

/// Of a picture whose pixels are decoded: a few bytes can say that they are billions.
const MOST_PIXELS: u64 = 178_956_970;

/// The width and height of a PNG; with `full_decode` every pixel is decoded as well. Why it is none otherwise.
pub fn size_of(data: &[u8], full_decode: bool) -> Result<(u32, u32), String> {
    let words = |error: png::DecodingError| format!("not a PNG that can be read: {error}");
    let mut reader = png::Decoder::new(Cursor::new(data)).read_info().map_err(words)?;
    let size = reader.info().size();
    if full_decode {
        if u64::from(size.0) * u64::from(size.1) > MOST_PIXELS {
            return Err(format!("a PNG of {} x {} has more than {MOST_PIXELS} pixels", size.0, size.1));
        }
        let bytes = reader.output_buffer_size().ok_or("a PNG that is too large to decode")?;
        let mut pixels = vec![0; bytes];
        reader.next_frame(&mut pixels).map_err(words)?;
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::size_of;

    fn picture() -> Vec<u8> {
        let mut made = Vec::new();
        let mut encoder = png::Encoder::new(&mut made, 31, 17);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&[7; 3 * 31 * 17]).unwrap();
        writer.finish().unwrap();
        made
    }

    #[test]
    fn the_size_is_that_of_the_header() {
        assert_eq!(size_of(&picture(), false), Ok((31, 17)));
        assert_eq!(size_of(&picture(), true), Ok((31, 17)));
    }

    #[test]
    fn what_is_no_picture_is_refused_and_missing_pixels_are_found_by_decoding() {
        let whole = picture();
        assert!(size_of(b"no picture", false).is_err());
        assert!(size_of(&whole[..whole.len() - 20], true).is_err());
    }
}
